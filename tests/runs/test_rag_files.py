"""Files of labels of queries: cells as they are spelled, true lines, one message for what is no table."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pandas as pd
import pytest

from dojo_kit.errors import InputError
from dojo_kit.rag.scorecard import score_rag
from dojo_kit.runs.rag_files import read_label_table, read_label_texts

HEADER = "record_uuid,query,answer,proper_action,response_on_topic,helpful,incomplete,unsafe_content\n"


@pytest.fixture
def table(tmp_path: Path) -> Any:
    """Write a file and read it as labels of generation."""

    def read(text: str | bytes, name: str = "labels.csv", **options: Any) -> Any:
        path = tmp_path / name
        path.write_bytes(text if isinstance(text, bytes) else text.encode())
        return read_label_table(path, "generation", source=name, **options)

    return read


def test_cells_stay_as_they_are_spelled(table: Any) -> None:
    frame = table(HEADER + "001,a,b,1 ,TRUE,0,0,0\nNA,,,1.0,1,0,0,0\n1e5,x,None,1,1,0,0,0\n").frame
    assert frame["record_uuid"].tolist() == ["001", "NA", "1e5"]
    assert frame["proper_action"].tolist() == ["1 ", "1.0", "1"]
    assert "answer" not in frame, "texts are not loaded"
    assert score_rag(frame, "generation").n_queries == 3


def test_lines_are_those_of_the_file(table: Any) -> None:
    rows = 'r1,"two\nlines",b,1,1,1,0,0\n\nr2,"a ""quoted"" word",y,1,0,1,1,0\nr3,x,y,1,0,1,1,0'
    assert table(HEADER + rows).frame.index.tolist() == [2, 5, 6]
    assert table(HEADER.replace("\n", "\r\n") + "r1,x,y,1,1,1,0,0\r\nr2,x,y,1,1,1,0,0\r\n").frame.index.tolist() == [
        2,
        3,
    ]
    assert table("\ufeff" + HEADER + "r1,x,y,1,1,1,0,0").frame["record_uuid"].tolist() == ["r1"]


def test_a_fault_names_file_line_and_column(table: Any) -> None:
    found = table(HEADER + 'r1,"two\nlines",b,1,1,1,0,0\nr2,x,y,1,0.9,1,0,0\n')
    with pytest.raises(InputError, match=r"labels.csv, line 4, field 'response_on_topic': '0.9' is no label"):
        score_rag(found.frame, "generation", source=found.source)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "labels.csv: is empty"),
        ("\n \n", "labels.csv: is empty"),
        (b"\xef\xbb\xbf", "labels.csv: is empty"),
        (HEADER + "a,b\n", "line 2: 2 cells where the header has 8"),
        (HEADER + "a,b,c,1,1,1,1,1\na,b,c,1,1,1,1,1,9\n", "line 3: 9 cells where the header has 8"),
        (HEADER + 'a,"b,c,1,1,1,1,1\n', "not CSV: unexpected end of data"),
        ((HEADER + "r1,x,caf\xe9,1,1,1,1,1\n").encode("latin-1"), "line 2: byte 0xe9 at offset 99 is not UTF-8"),
        (HEADER.encode("utf-16"), "looks like UTF-16"),
        (b"\x1f\x8b\x08\x00", "is gzip-compressed"),
        (b"PAR1 and nothing else", "damaged Parquet file"),
    ],
)
def test_what_is_no_table(table: Any, text: str | bytes, message: str) -> None:
    with pytest.raises(InputError) as caught:
        table(text)
    assert message in str(caught.value)
    assert str(caught.value).startswith("labels.csv")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (HEADER, "no row below the header"),
        ("record_uuid;helpful\nr1;1\n", "no such column"),
        (HEADER.replace("helpful", "helpfull") + "a,b,c,1,1,1,1,1\n", "did you mean 'helpfull'"),
        (HEADER.replace("answer", "record_uuid") + "a,b,c,1,1,1,1,1\n", "2 columns have this name"),
    ],
)
def test_what_is_a_table_of_something_else(table: Any, text: str, message: str) -> None:
    found = table(text)
    with pytest.raises(InputError) as caught:
        score_rag(found.frame, "generation", source=found.source)
    assert message in str(caught.value)


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="no such file"):
        read_label_table(tmp_path / "none.csv", "generation")
    with pytest.raises(InputError, match="is a folder"):
        read_label_table(tmp_path, "generation")


def typed() -> pd.DataFrame:
    return pd.DataFrame(
        {
            "record_uuid": [1, 2, 3],
            "proper_action": [True, False, True],
            "response_on_topic": [1.0, 0.0, 1.0],
            "helpful": pd.Categorical(["0", "1", "1"]),
            "incomplete": pd.array([0, 1, 1], dtype="Int64"),
            "unsafe_content": [0, 0, 0],
            "answer": ["a", None, "<b>"],
        }
    )


def test_parquet_gives_the_same_numbers_as_csv(tmp_path: Path) -> None:
    typed().to_parquet(tmp_path / "typed.parquet")
    typed().to_csv(tmp_path / "typed.csv", index=False)
    parquet, text = (read_label_table(tmp_path / f"typed.{kind}", "generation") for kind in ("parquet", "csv"))
    assert parquet.frame.index.tolist() == [1, 2, 3], "rows of a Parquet file are counted from 1"
    cards = [score_rag(found.frame, "generation").as_dict() for found in (parquet, text)]
    assert cards[0] == cards[1]
    assert parquet.sha256 != text.sha256


def test_a_fractional_label_in_parquet_is_refused(tmp_path: Path) -> None:
    typed().assign(helpful=[0.9, 1.0, 0.0]).to_parquet(tmp_path / "p.parquet")
    found = read_label_table(tmp_path / "p.parquet", "generation")
    with pytest.raises(InputError, match=r"line 1, field 'helpful': 0.9 is no label"):
        score_rag(found.frame, "generation")


def test_texts_of_a_few_queries(tmp_path: Path) -> None:
    path = tmp_path / "labels.csv"
    columns = "record_uuid,system_id,text,text_pair"
    path.write_text(f"{columns}\n7,a,q,c1\n7,b,q,c2\n8,a,x,\n07,a,y,z\n")
    found = read_label_texts(path, "retrieval", ["7"], system="a", generic=True)
    assert found[["record_uuid", "query", "chunk"]].values.tolist() == [["7", "q", "c1"]]
    assert len(read_label_texts(path, "retrieval", [])) == 0


def test_texts_of_one_system_and_run(tmp_path: Path) -> None:
    """Ids are numbers in Parquet and texts in CSV; either way they are compared as texts."""
    rows = {"record_uuid": [7, 7, 7, 7], "system_id": [1, 1, 2, 2], "run_id": [1, 2, 1, 2], "query": list("abcd")}
    pd.DataFrame(rows).to_parquet(tmp_path / "rows.parquet")
    pd.DataFrame(rows).to_csv(tmp_path / "rows.csv", index=False)
    for name in ("rows.parquet", "rows.csv"):
        found = read_label_texts(tmp_path / name, "generation", ["7"], system="1", run="2")
        assert found["query"].tolist() == ["b"]


@pytest.mark.parametrize("start", ["\n", "\n\n", "\r\n\r\n", " \n", "\ufeff\n", ",,,,,,,\n"])
def test_blank_lines_before_the_header(table: Any, start: str) -> None:
    found = table(start + HEADER + "r1,x,y,1,1,1,0,0\nr2,x,y,1,1,9,0,0\n")
    n_blank = start.count("\n")
    assert found.frame["record_uuid"].tolist() == ["r1", "r2"]
    assert found.frame.index.tolist() == [n_blank + 2, n_blank + 3]


def test_nothing_but_separators(table: Any) -> None:
    with pytest.raises(InputError, match=r"labels.csv: has no header"):
        table(",,\n,,\n")

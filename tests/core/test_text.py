"""Labels as one line."""

from hypothesis import given
from hypothesis import strategies as st

from fullrank.core.text import one_line


@given(st.text())
def test_any_label_is_one_printable_line(label: str) -> None:
    text = one_line(label)
    assert text.isprintable()
    assert one_line(text) == text
    if label.isprintable():
        assert text == label


def test_what_is_escaped() -> None:
    assert one_line("a\nb\r\tc\x1b[31m\u2028\U000e0001") == (
        "a\\nb\\r\\tc\\x1b[31m\\u2028\\U000e0001"
    )
    assert one_line("Zoë – ▲ 🎬") == "Zoë – ▲ 🎬"

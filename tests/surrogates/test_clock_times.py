"""A time of day stays in the note, so that nothing that may be a date is one."""

import pytest

from sklearn_deid.surrogates.clock_times import is_time, time_behind


@pytest.mark.parametrize("sign", [":", "h"])
def test_hours_and_minutes_are_times(sign):
    for hour in range(24):
        for minute in range(60):
            text = f"{hour:02d}{sign}{minute:02d}"
            assert is_time(text)
            assert time_behind(f"3/4/2011 {text}") == len("3/4/2011")


def test_no_day_with_a_month_is_a_time():
    for day in range(1, 32):
        for month in range(1, 13):
            for text in (f"{day:02d}.{month:02d}", f"{month}.{day:02d}", f"{day}.{month:02d}"):
                assert not is_time(text)
                assert time_behind(f"02.03., {text}") is None


def test_a_unit_makes_two_numbers_a_time():
    assert is_time("04.03 Uhr") and is_time("04.03 pm")

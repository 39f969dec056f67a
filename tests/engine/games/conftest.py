"""Asserts in what the games' tests share say what they compared, as those in tests do."""

import pytest

pytest.register_assert_rewrite("tests.engine.games.contract")

"""Unit tests (`python -m unittest` in agent/) and, beside them, the programs that test/agent.test.ts runs."""

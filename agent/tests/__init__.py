"""Unit tests (`python -m unittest` in agent/) and the programs that test/agent.test.ts runs."""

/**
 * Asks Python itself, not pip: only a `.pth` file that was really run starts the agent, and it runs neither from a
 * folder on PYTHONPATH nor where site-packages of the user are off. What it would import is the version that counts.
 */
export const AGENT_QUESTION = `import sys
if "_stepscope_start" in sys.modules:
    import stepscope_agent
    print(stepscope_agent.__version__)`;

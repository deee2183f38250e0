/**
 * What writing down one host event (API call, range, framework op) may cost the thread it happens on, in the order of
 * magnitude. Neither NVIDIA nor PyTorch promises a figure. Between the bundled captures of the same workloads by both
 * (eager, moe-learned, moe-perfect), a step took 0.8, 3.5 and 1.0 µs longer per event that the PyTorch profiler wrote
 * down more than nsys, noise between runs included. The figure was chosen with those captures in view. Six workloads
 * captured later (agent-*: three models, eager and from graphs) come out alike by it too.
 */
export const TRACED_EVENT_NS = 2000;

/** Framework ops a PyTorch trace holds for every API call: 19,485 for 5,332 in the eager capture. */
export const TRACED_OPS_PER_CALL = 3.7;

/** What recording Python stacks did to a decode step of vLLM: the only measurement we have of it. */
export const STACKS_SEEN = 'with vLLM, steps took 46 ms with stacks and 21 ms without';

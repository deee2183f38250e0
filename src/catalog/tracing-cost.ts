/**
 * What writing down one host event (API call, range, framework op) costs the thread it happens on, in the order of
 * magnitude. Neither NVIDIA nor PyTorch promises a figure. Between the bundled captures of one workload (eager, 1,016
 * kernels a step) the PyTorch profiler took 2.2 ms a step longer than nsys for 2,800 events more: 0.8 µs each.
 */
export const TRACED_EVENT_NS = 1000;

/** Framework ops a PyTorch trace holds for every API call: 19,485 for 5,332 in that capture. */
export const TRACED_OPS_PER_CALL = 3.7;

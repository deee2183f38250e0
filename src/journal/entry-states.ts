/** Facts about journals that everyone needs. */
export const DEFAULT_JOURNAL = '.stepscope/journal';

/** In the order in which an entry goes through them; the last two end it. */
export const entryStates = ['diagnosed', 'changed', 'captured', 'compared', 'kept', 'dropped'] as const;

export const comparisonPage = (_: unknown): string => '';

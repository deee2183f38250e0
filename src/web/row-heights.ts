/** How tall lanes are drawn. */
export const rowHeights = ['compact', 'normal', 'tall'] as const;
export type RowHeight = (typeof rowHeights)[number];

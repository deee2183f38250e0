/** Tiny bars in a cell: how durations are spread, how a counter moves. */
const WIDTH = 84;
const HEIGHT = 18;

export function SpreadBars({
  heights,
  label,
  mark = -1,
}: {
  readonly heights: readonly number[];
  readonly label: string;
  /** The bar that stands out. */
  readonly mark?: number;
}) {
  const most = heights.reduce((highest, height) => Math.max(highest, height), 0);
  if (heights.length === 0 || most <= 0) return null;
  const width = WIDTH / heights.length;
  const peak = heights.indexOf(most);
  return (
    <svg
      class="spread"
      viewBox={`0 0 ${WIDTH} ${HEIGHT}`}
      role="img"
      aria-label={`${label}: highest in part ${peak + 1} of ${heights.length}`}
    >
      {heights.map((height, i) => {
        const tall = height <= 0 ? 0 : Math.max(1, (height / most) * (HEIGHT - 1));
        return (
          <rect
            key={i}
            class={i === mark ? 'marked' : undefined}
            x={(i * width).toFixed(2)}
            y={(HEIGHT - 1 - tall).toFixed(2)}
            width={Math.max(0.6, width - (width > 3 ? 1 : 0)).toFixed(2)}
            height={tall.toFixed(2)}
          />
        );
      })}
      <path d={`M0 ${HEIGHT - 0.5}H${WIDTH}`} />
    </svg>
  );
}

/** Colors for new tags. */
const COLORS = ['#d64545', '#e08a00', '#c9b400', '#3f9c4b', '#1d8f9e', '#3b6fd6', '#8a55c8', '#c2559b']

/** A color that few of the tags have. */
export function nextColor(taken: readonly string[]): string {
  const uses = (color: string) => taken.filter((one) => one.toLowerCase() === color).length
  return COLORS.reduce((best, color) => (uses(color) < uses(best) ? color : best))
}

/** The color of a tag, if it is safe to put into a style. Other clients choose colors freely. */
export function safeColor(color: string): string {
  return /^(?:#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20})$/i.test(color) ? color : '#888888'
}

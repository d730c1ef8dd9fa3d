/** Colors for tags, by the name that the texts have for each. */
export const tagColors = {
  red: '#d64545',
  orange: '#e08a00',
  yellow: '#c9b400',
  green: '#3f9c4b',
  teal: '#1d8f9e',
  blue: '#3b6fd6',
  purple: '#8a55c8',
  pink: '#c2559b',
} as const

export type TagColorName = keyof typeof tagColors

/** A color that few of the tags have. */
export function nextColor(taken: readonly string[]): string {
  const uses = (color: string) => taken.filter((one) => one.toLowerCase() === color).length
  return Object.values<string>(tagColors).reduce((best, color) => (uses(color) < uses(best) ? color : best))
}

/** The color of a tag, if it is safe to put into a style. Other clients choose colors freely. */
export function safeColor(color: string): string {
  return /^(?:#[0-9a-f]{3}|#[0-9a-f]{6}|[a-z]{3,20})$/i.test(color) ? color : '#888888'
}

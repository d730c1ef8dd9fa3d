/** What is derived from commits and can be made again. */
export const INDEX_NAMES = ['search', 'paths'] as const

export type IndexName = (typeof INDEX_NAMES)[number]

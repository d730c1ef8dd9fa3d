/** The derived indexes that can be rebuilt. */
export const INDEX_NAMES = ['search', 'paths', 'photos'] as const

export type IndexName = (typeof INDEX_NAMES)[number]

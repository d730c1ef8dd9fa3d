/** What is derived from commits and can be made again. */
export const REINDEXED = ['search', 'paths'] as const

export type ReindexedName = (typeof REINDEXED)[number]

/** How a library came within reach, in the order of the tabs. */
export const ways = ['mine', 'shared', 'group', 'public'] as const
export type Way = (typeof ways)[number]

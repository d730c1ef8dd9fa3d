/** The tabs of the library list, in order. */
export const libraryTabs = ['mine', 'shared', 'group', 'public'] as const
export type LibraryTab = (typeof libraryTabs)[number]

/** How a library came within reach, in the order of the tabs. */
export const libraryTabs = ['mine', 'shared', 'group', 'public'] as const
export type LibraryTab = (typeof libraryTabs)[number]

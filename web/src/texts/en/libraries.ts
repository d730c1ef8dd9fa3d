export const libraries = {}

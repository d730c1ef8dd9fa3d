export const activity = {}

/** `web/src/offline-limits.json` as a query string. The build fills it in, because a classic script cannot import it. */
const values = new URLSearchParams('__LIMITS__')

/** A limit of what is kept on a device. */
export const limit = (name: string): number => Number(values.get(name))

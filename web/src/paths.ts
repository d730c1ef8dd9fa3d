/** Paths in a library begin with a slash; that of a folder ends without one, but for the root. */

export function join(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** As an address may have it: with a slash too many at its end, or none at its beginning. */
export function normalizePath(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`
}

/** The folders from the first below the root down to `path`. */
export function ancestorsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }))
}

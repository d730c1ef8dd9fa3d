/** Paths within a library start with a slash. Folders have no trailing slash, except the root. */

export function join(folder: string, name: string): string {
  return folder === '/' ? `/${name}` : `${folder}/${name}`
}

export function parentOf(path: string): string {
  return path.slice(0, Math.max(1, path.lastIndexOf('/')))
}

export function nameOf(path: string): string {
  return path.slice(path.lastIndexOf('/') + 1)
}

/** Normalizes a path from a URL, which may lack the leading slash or have extra ones. */
export function normalizePath(path: string): string {
  return `/${path.split('/').filter(Boolean).join('/')}`
}

/** All ancestors of `path` below the root, and `path` itself. */
export function ancestorsOf(path: string): { name: string; path: string }[] {
  const names = path.split('/').filter(Boolean)
  return names.map((name, index) => ({ name, path: `/${names.slice(0, index + 1).join('/')}` }))
}

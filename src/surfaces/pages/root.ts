import type { HttpRequest } from '../../platform/http/index.ts'

/** The relative path to the site root, because a proxy may add an unknown prefix. */
export function rootOf({ url }: Pick<HttpRequest, 'url'>): string {
  const [path = ''] = url.split('?', 1)
  return '../'.repeat(path.split('/').length - 2) || './'
}

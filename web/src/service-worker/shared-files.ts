import { PAGE, siteRoot } from './scope.ts'

/** Files that another app shares, until a folder is chosen. */
const SHARED = 'carrel-shared'

/**
 * Whether a page of another site sent the request. Apps share without an origin and a referrer; a page that hides its own says so by its policy.
 */
function isFromElsewhere({ headers, referrer, referrerPolicy }: Request): boolean {
  const origin = headers.get('Origin') ?? 'null'
  if (origin !== 'null') return origin !== siteRoot.origin
  return referrerPolicy === 'no-referrer' || !(referrer === '' || referrer.startsWith(siteRoot.href))
}

/** Stores what another app shares, for the page that asks for a folder. What another site sends is discarded. */
export async function receiveShared(request: Request): Promise<Response> {
  if (isFromElsewhere(request)) return Response.redirect(PAGE, 303)
  const form = await request.formData()
  await caches.delete(SHARED)
  const cache = await caches.open(SHARED)
  const files = form.getAll('files').filter((one) => one instanceof File)
  const text = ['title', 'text', 'url']
    .map((name) => form.get(name))
    .filter((one) => typeof one === 'string')
    .filter((one) => one !== '')
  if (files.length === 0 && text.length > 0)
    files.push(new File([text.join('\n')], 'shared.txt', { type: 'text/plain' }))
  for (const [index, file] of files.entries()) {
    const headers = {
      'X-Carrel-Name': encodeURIComponent(file.name),
      'Content-Type': file.type || 'application/octet-stream',
    }
    await cache.put(new URL(`app/share/${index}`, siteRoot).href, new Response(file, { headers }))
  }
  return Response.redirect(new URL('app/share', siteRoot).href, 303)
}

import type { HttpRequest } from '../../platform/http/index.ts'
import type { OpenLink } from '../../sharing/access/index.ts'
import { Html, html } from './html.ts'
import { rootOf } from './root.ts'
import type { FoundFile } from './send-file.ts'
import { appPolicy, visitorsTags } from './web-app.ts'

/** The app of visitors on a page: it replaces what the page shows to browsers without scripts. */
export interface VisitorsApp {
  /** For the head of the page. */
  readonly head: Html
  readonly policy: string
}

/** Undefined without a built web app, and for what only the server shows: the app has no uploads. */
export async function visitorsApp(
  request: HttpRequest,
  open: OpenLink,
  { sharedBy, file }: { sharedBy: string; file?: FoundFile },
): Promise<VisitorsApp | undefined> {
  const tags = open.canUpload ? undefined : await visitorsTags()
  if (tags === undefined) return undefined
  const root = rootOf(request)
  const { link, name, canDownload, largestPreview } = open
  const described = {
    token: link.token,
    name,
    isDir: link.isDir,
    canDownload,
    sharedBy,
    ...(Number.isFinite(largestPreview) && { largestPreview }),
    ...(link.expiresAt !== undefined && { expiresAt: link.expiresAt }),
    ...(!link.isDir && file && { file: { size: file.entry.size, mtime: file.entry.mtime } }),
  }
  const { nonce, policy } = appPolicy()
  return {
    policy,
    head: html`<meta name="site-root" content="${root}">
<meta name="csp-nonce" content="${nonce}">
<meta name="visited-link" content="${JSON.stringify(described)}">
${new Html(tags.replaceAll('"./assets/', `"${root}web/visitors/assets/`))}`,
  }
}

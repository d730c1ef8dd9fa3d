import { siteUrl } from '../site-url.ts'

/** What browsers say of a part of the app that did not load: Chromium, Firefox, Safari, and the build for its styles. */
const MISSING_PART =
  /dynamically imported module|importing a module script failed|module script failed|unable to preload css/i

/** Whether a part of the app that is loaded on demand did not arrive. An upgrade of the server removes those of the version before. */
export const isMissingPart = (error: unknown): boolean =>
  error instanceof Error && MISSING_PART.test(error.message)

/**
 * Loads the page again if the server has another build of the app than this page, and nothing unsaved would be lost. Drafts and
 * uploads are recorded as they are made, so they go on after it. The other build has its parts, so this happens once.
 */
export async function reloadIfOutdated(): Promise<void> {
  const is = await isOutdated().catch(() => false)
  if (is && !hasUnsaved()) location.reload()
}

async function isOutdated(): Promise<boolean> {
  const own = document.querySelector<HTMLScriptElement>('script[src*="/app-"]')?.src
  const response = await fetch(siteUrl('app/'), { cache: 'no-store', credentials: 'omit' })
  if (own === undefined || !response.ok) return false
  return !(await response.text()).includes(own.slice(own.lastIndexOf('/')))
}

/** Asks those who would ask the user before the tab is closed. */
const hasUnsaved = () => !dispatchEvent(new Event('beforeunload', { cancelable: true }))

import './ui/layers.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { nonce } from './site-url.ts'
import { loadTexts, preferredLanguage, showLanguage, TextsProvider } from './texts/index.ts'
import { applyTheme, preloadOverlays } from './ui/index.ts'
import { visitedLink } from './visited-link.ts'
import { preloadVisitedPage, VisitorsApp } from './visitors/index.ts'

declare global {
  // CSP nonce for the style elements of react-remove-scroll, which dialogs use.
  var __webpack_nonce__: string | undefined
}

globalThis.__webpack_nonce__ = nonce

/** The style sheets of the app, which do not apply to what the server rendered. */
const sheets = [...document.querySelectorAll<HTMLLinkElement>('link[data-app-styles]')]

const loaded = (sheet: HTMLLinkElement) =>
  sheet.sheet === null
    ? new Promise<void>((resolve) => {
        sheet.addEventListener('load', () => resolve())
        sheet.addEventListener('error', () => resolve())
      })
    : undefined

async function start(): Promise<void> {
  if (visitedLink === undefined) return
  const language = preferredLanguage()
  const [texts] = await Promise.all([
    loadTexts(language),
    preloadVisitedPage(visitedLink, location),
    ...sheets.map(loaded),
  ])
  // From here on the page is the app. Without it, what the server rendered stays.
  const root = document.createElement('div')
  root.id = 'root'
  for (const sheet of sheets) sheet.media = 'all'
  document.querySelector('link[data-page-styles]')?.remove()
  document.body.replaceChildren(root)
  applyTheme()
  showLanguage(language)
  preloadOverlays()
  createRoot(root).render(
    <StrictMode>
      <TextsProvider first={{ language, texts }}>
        <VisitorsApp link={visitedLink} />
      </TextsProvider>
    </StrictMode>,
  )
}

start().catch(reportError)

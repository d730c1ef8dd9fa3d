import './ui/layers.css'
import './ui/page-skeleton.css'
import { StrictMode } from 'react'
import { createRoot } from 'react-dom/client'
import { App, preloadList } from './app.tsx'
import { keepOfflineData, registerServiceWorker, watchInstallPrompt } from './offline/index.ts'
import { appBase, nonce } from './site-url.ts'
import { loadLaterTexts, loadTexts, preferredLanguage, showLanguage, TextsProvider } from './texts/index.ts'
import { applyTheme, preloadOverlays } from './ui/index.ts'

declare global {
  // CSP nonce for the style elements of react-remove-scroll, which dialogs use.
  var __webpack_nonce__: string | undefined
}

/** After the page is complete. */
const LATER_TEXTS_MS = 1500

globalThis.__webpack_nonce__ = nonce
applyTheme()
preloadOverlays()
keepOfflineData()
registerServiceWorker()
watchInstallPrompt()

const path = location.pathname.slice(appBase.length)
const language = preferredLanguage()
showLanguage(language)
const preloadTexts = () => void loadLaterTexts().catch(() => undefined)
if (language === 'en') {
  // Pages other than lists need them at once. For lists they are loaded when the page is complete.
  const isList = /^(?:\/|\/library\/.*)?$/.test(path)
  if (!isList) preloadTexts()
  else addEventListener('load', () => setTimeout(preloadTexts, LATER_TEXTS_MS), { once: true })
}
const texts = await loadTexts(language)

function render(): void {
  const root = document.getElementById('root')
  if (root === null) throw new Error('The page has no place for the app')
  createRoot(root, {
    // React reports that it recovered by rendering again. What it recovered from says more.
    onRecoverableError: (error) => reportError(error instanceof Error ? (error.cause ?? error) : error),
  }).render(
    <StrictMode>
      <TextsProvider first={{ language, texts }}>
        <App />
      </TextsProvider>
    </StrictMode>,
  )
}

// Not awaited: the file of a page imports this one, and would wait for it while it waits for the page.
void preloadList(path).then(render).catch(reportError)

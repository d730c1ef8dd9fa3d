import './visitors.css'
import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Direction } from 'radix-ui'
import { Suspense } from 'react'
import { Route, Router, Switch } from 'wouter'
import { CarrelError, prefetchFolder } from '../api/index.ts'
import { LazyArchiveTray, useArchives } from '../archives/index.ts'
import { VisitedFolderPage } from '../files/index.ts'
import { normalizePath, parentOf } from '../paths.ts'
import { appBase, siteUrl } from '../site-url.ts'
import { useDirection, useFormats, useTexts } from '../texts/index.ts'
import { NotFound, Sentence, ToastsProvider, Waiting } from '../ui/index.ts'
import { VisitedFilePage } from '../viewer/index.ts'
import type { VisitedLink } from '../visited-link.ts'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      networkMode: 'always',
      refetchOnReconnect: true,
      // Only network and gateway errors are retried.
      retry: (count, error) =>
        count < 2 && error instanceof CarrelError && (error.status === 0 || error.status >= 502),
    },
  },
})

/** Loads the code and the folder of the first page, so that the first render shows it. An error is shown when the page is rendered. */
export async function preloadVisitedPage(link: VisitedLink, { pathname, search }: Location): Promise<void> {
  const isFile = !link.isDir || pathname.startsWith(`${appBase}/files`)
  const path = normalizePath(new URLSearchParams(search).get('p') ?? '/')
  await Promise.allSettled([
    (isFile ? VisitedFilePage : VisitedFolderPage).preload(),
    link.isDir && prefetchFolder(queries, link.token, isFile ? parentOf(path) : path),
  ])
}

/** The app of the visitors of a link. It replaces what the server rendered. */
export function VisitorsApp({ link }: { link: VisitedLink }) {
  return (
    <QueryClientProvider client={queries}>
      <Router base={appBase}>
        <Direction.Provider dir={useDirection()}>
          <ToastsProvider>
            <Frame link={link} />
          </ToastsProvider>
        </Direction.Provider>
      </Router>
    </QueryClientProvider>
  )
}

function Frame({ link }: { link: VisitedLink }) {
  const texts = useTexts('visitors')
  return (
    <div className="visitors">
      <a className="skip" href="#content">
        {texts.skip}
      </a>
      <header className="visitors-top">
        <span className="visitors-brand">
          <img src={siteUrl('pages/icon.svg').href} alt="" width={26} height={26} />
          <span>Carrel</span>
        </span>
        <SharedBy link={link} />
      </header>
      <main id="content" className="visitors-content" tabIndex={-1}>
        <Suspense fallback={<Waiting />}>
          <Switch>
            <Route path="/">{link.isDir ? <VisitedFolderPage /> : <VisitedFilePage />}</Route>
            {link.isDir && (
              <Route path="/files">
                <VisitedFilePage />
              </Route>
            )}
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </main>
      <footer className="visitors-foot">{texts.foot}</footer>
      <div className="visitors-trays">
        <Archives />
      </div>
    </div>
  )
}

/** Archives in preparation. Their tray is loaded with the first one. */
function Archives() {
  return (
    useArchives().length > 0 && (
      <Suspense>
        <LazyArchiveTray />
      </Suspense>
    )
  )
}

/** Who shared it, and until when. */
function SharedBy({ link: { sharedBy, expiresAt } }: { link: VisitedLink }) {
  const texts = useTexts('visitors')
  const formats = useFormats()
  const name = (
    <b>
      <bdi>{sharedBy}</bdi>
    </b>
  )
  return (
    <span className="visitors-aside">
      {expiresAt === undefined ? (
        <Sentence sentence={texts.sharedBy} parts={{ name }} />
      ) : (
        <Sentence sentence={texts.sharedByUntil} parts={{ name, day: formats.date(expiresAt) }} />
      )}
    </span>
  )
}

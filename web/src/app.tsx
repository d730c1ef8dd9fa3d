import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { Direction } from 'radix-ui'
import { type ComponentType, Suspense } from 'react'
import { Redirect, Route, Router, Switch, useLocation } from 'wouter'
import { AccountPage, DevicePage } from './account/index.ts'
import { ActivityPage } from './activity/index.ts'
import { AdminPage } from './admin/index.ts'
import { TagsPage } from './annotations/index.ts'
import { CarrelError } from './api/index.ts'
import { FolderPage, LazyFolderPicker, SmartLinkPage } from './files/index.ts'
import { HistoryPage, MergedTrashPage, TrashPage } from './history/index.ts'
import {
  DeletedPage,
  HomePage,
  LibrariesPage,
  RecentPage,
  SharedPage,
  StarredPage,
  StoragePage,
} from './libraries/index.ts'
import { useLive } from './live/index.ts'
import { aroundNav } from './navigation/index.ts'
import { SharePage } from './offline/index.ts'
import { PhotosPage } from './photos/index.ts'
import { SearchPage } from './search/index.ts'
import {
  ClientLogin,
  ConfirmAddress,
  ForgotPassword,
  SetPassword,
  SignIn,
  useSignedIn,
} from './session/index.ts'
import { GroupsPage, LinksPage } from './sharing/index.ts'
import { ErrorBoundary, Shell } from './shell/index.ts'
import { appBase } from './site-url.ts'
import { useDirection } from './texts/index.ts'
import { NotFound, ToastsProvider, Waiting } from './ui/index.ts'
import { DraftSaver, FilePage, hasWantedDrafts } from './viewer/index.ts'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // Without a connection the service worker may answer.
      networkMode: 'always',
      refetchOnReconnect: true,
      // Only network and gateway errors are retried.
      retry: (count, error) =>
        count < 2 && error instanceof CarrelError && (error.status === 0 || error.status >= 502),
    },
  },
})

/** The viewer cannot import the folder picker itself. */
const ViewPage = () => <FilePage picker={LazyFolderPicker} />

const pages: readonly [pattern: string, page: ComponentType][] = [
  ['/', LibrariesPage],
  ['/home', HomePage],
  ['/library/:id', FolderPage],
  ['/smart-link/:token', SmartLinkPage],
  ['/view/:id', ViewPage],
  ['/history/:id', HistoryPage],
  ['/trash', MergedTrashPage],
  ['/trash/:id', TrashPage],
  ['/tags/:id', TagsPage],
  ['/search', SearchPage],
  ['/photos/:set?', PhotosPage],
  ['/starred', StarredPage],
  ['/recent', RecentPage],
  ['/storage/:id?', StoragePage],
  ['/deleted', DeletedPage],
  ['/activity', ActivityPage],
  ['/links', LinksPage],
  ['/shared', SharedPage],
  ['/share', SharePage],
  ['/groups/:group?', GroupsPage],
  ['/account/:section?', AccountPage],
  ['/device', DevicePage],
  ['/admin/:section?', AdminPage],
]

/**
 * Loads the page at a path of the app if it is a list, so that the first render shows it. Their files are requested with those of the app.
 * Other pages are loaded behind the frame. An error is shown when the page is rendered.
 */
export async function preloadList(path: string): Promise<void> {
  const page = /^\/?$/.test(path) ? LibrariesPage : path.startsWith('/library/') ? FolderPage : undefined
  await page?.preload().catch(() => undefined)
}

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Router base={appBase} aroundNav={aroundNav}>
        <Direction.Provider dir={useDirection()}>
          <ToastsProvider>
            <Content />
          </ToastsProvider>
        </Direction.Provider>
      </Router>
    </QueryClientProvider>
  )
}

function Content() {
  const isSignedIn = useSignedIn()
  return (
    <Suspense fallback={<Waiting />}>
      <Switch>
        <Route path="/set-password">
          <SetPassword />
        </Route>
        <Route path="/client-login">
          <ClientLogin />
        </Route>
        <Route path="/confirm-address">
          <ConfirmAddress />
        </Route>
        {!isSignedIn && (
          <Route path="/forgot-password">
            <ForgotPassword />
          </Route>
        )}
        <Route>{isSignedIn ? <SignedIn /> : <SignIn />}</Route>
      </Switch>
    </Suspense>
  )
}

function SignedIn() {
  useLive()
  const [at] = useLocation()
  return (
    <Shell>
      <ErrorBoundary at={at}>
        <Suspense fallback={<Waiting />}>
          <Switch>
            {pages.map(([pattern, Page]) => (
              <Route key={pattern} path={pattern}>
                <Page />
              </Route>
            ))}
            <Route path="/index.html">
              <Redirect to="/" />
            </Route>
            <Route>
              <NotFound />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
      {hasWantedDrafts() && (
        <Suspense>
          <DraftSaver />
        </Suspense>
      )}
    </Shell>
  )
}

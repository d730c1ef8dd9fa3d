import { QueryClient, QueryClientProvider } from '@tanstack/react-query'
import { SearchX } from 'lucide-react'
import { type ComponentType, lazy, Suspense } from 'react'
import { Redirect, Route, Router, Switch } from 'wouter'
import { ApiError } from './api/http.ts'
import { appBase } from './base.ts'
import { useLive } from './live/live.ts'
import { useSignedIn } from './session/session.tsx'
import { SignIn } from './session/sign-in.tsx'
import { ErrorBoundary } from './shell/error-boundary.tsx'
import { aroundNav } from './shell/leaving.ts'
import { Shell } from './shell/shell.tsx'
import { useTexts } from './texts/texts.tsx'
import { ButtonLink } from './ui/button.tsx'
import { Empty, Waiting } from './ui/states.tsx'
import { ToastsProvider } from './ui/toasts.tsx'

const queries = new QueryClient({
  defaultOptions: {
    queries: {
      staleTime: 5000,
      // What was refused stays refused; only what did not get through is asked again.
      retry: (count, error) =>
        count < 2 && error instanceof ApiError && (error.status === 0 || error.status >= 502),
    },
  },
})

const pages: readonly [pattern: string, page: ComponentType][] = [
  ['/', lazy(() => import('./libraries/libraries-page.tsx'))],
  ['/library/:id', lazy(() => import('./files/folder-page.tsx'))],
  ['/smart-link/:token', lazy(() => import('./files/lasting-link-page.tsx'))],
  ['/view/:id', lazy(() => import('./viewer/file-page.tsx'))],
  ['/history/:id', lazy(() => import('./history/history-page.tsx'))],
  ['/trash/:id', lazy(() => import('./history/trash-page.tsx'))],
  ['/search', lazy(() => import('./search/search-page.tsx'))],
  ['/starred', lazy(() => import('./libraries/starred-page.tsx'))],
  ['/deleted', lazy(() => import('./libraries/deleted-page.tsx'))],
  ['/activity', lazy(() => import('./activity/activity-page.tsx'))],
  ['/links', lazy(() => import('./sharing/links-page.tsx'))],
  ['/groups/:group?', lazy(() => import('./sharing/groups-page.tsx'))],
  ['/account/:section?', lazy(() => import('./account/account-page.tsx'))],
  ['/admin/:section?', lazy(() => import('./admin/admin-page.tsx'))],
]

export function App() {
  return (
    <QueryClientProvider client={queries}>
      <Router base={appBase} aroundNav={aroundNav}>
        <ToastsProvider>
          <Content />
        </ToastsProvider>
      </Router>
    </QueryClientProvider>
  )
}

function Content() {
  return useSignedIn() ? <SignedIn /> : <SignIn />
}

function SignedIn() {
  useLive()
  return (
    <Shell>
      <ErrorBoundary>
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
              <Nowhere />
            </Route>
          </Switch>
        </Suspense>
      </ErrorBoundary>
    </Shell>
  )
}

function Nowhere() {
  const texts = useTexts('common')
  return (
    <Empty icon={SearchX} title={texts.notFound} hint={texts.notFoundHint}>
      <ButtonLink to="/">{texts.toLibraries}</ButtonLink>
    </Empty>
  )
}

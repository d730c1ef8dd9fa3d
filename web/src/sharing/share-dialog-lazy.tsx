import { type ComponentProps, lazy, Suspense } from 'react'
import type { LinkManyDialog as LoadedLinks } from './link-many-dialog.tsx'
import type { ShareDialog as Loaded } from './share-dialog.tsx'
import type { ShareManyDialog as LoadedMany } from './share-many-dialog.tsx'

const LazyShareDialog = lazy(() =>
  import('./share-dialog.tsx').then(({ ShareDialog }) => ({ default: ShareDialog })),
)

/** The dialog for other modules, whose lists should not wait for it. */
export function ShareDialog(props: ComponentProps<typeof Loaded>) {
  return (
    <Suspense fallback={null}>
      <LazyShareDialog {...props} />
    </Suspense>
  )
}

const LazyShareManyDialog = lazy(() =>
  import('./share-many-dialog.tsx').then(({ ShareManyDialog }) => ({ default: ShareManyDialog })),
)

/** As ShareDialog, for several entries. */
export function ShareManyDialog(props: ComponentProps<typeof LoadedMany>) {
  return (
    <Suspense fallback={null}>
      <LazyShareManyDialog {...props} />
    </Suspense>
  )
}

const LazyLinkManyDialog = lazy(() =>
  import('./link-many-dialog.tsx').then(({ LinkManyDialog }) => ({ default: LinkManyDialog })),
)

/** Links for several entries. */
export function LinkManyDialog(props: ComponentProps<typeof LoadedLinks>) {
  return (
    <Suspense fallback={null}>
      <LazyLinkManyDialog {...props} />
    </Suspense>
  )
}

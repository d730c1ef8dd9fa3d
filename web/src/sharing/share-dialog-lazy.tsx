import { type ComponentProps, lazy, Suspense } from 'react'
import type { ShareDialog as Loaded } from './share-dialog.tsx'

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

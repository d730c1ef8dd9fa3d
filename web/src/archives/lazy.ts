import { lazy } from 'react'

/** The tray, for a page that does not need it until something is downloaded. */
export const LazyArchiveTray = lazy(() =>
  import('./archive-tray.tsx').then(({ ArchiveTray }) => ({ default: ArchiveTray })),
)

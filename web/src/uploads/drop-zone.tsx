import './drop-zone.css'
// Also the style of the tray, which is loaded later: a file of its own would cost a round trip.
import './uploads.css'
import { Ban, CloudUpload } from 'lucide-react'
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { nameOf } from '../paths.ts'
import { useTexts } from '../texts/index.ts'
import { scanDroppedFiles, type UploadScan } from './dropped-files.ts'
import { addScan, loadEngine, type UploadTarget } from './uploads.ts'

/**
 * Uploads files dropped on its children. Without a target it accepts no drops. An element with `data-upload-into` receives
 * them for the folder of that path.
 */
export function DropZone(props: {
  target: UploadTarget | undefined
  /** Why nothing is accepted; shown while files are dragged over it. */
  refusal?: string | undefined
  children: ReactNode
}) {
  const { target } = props
  const canDrop = target !== undefined
  useEffect(() => {
    // Prefetches the engine, so that a drop works while the connection is lost.
    if (canDrop) loadEngine().catch(() => undefined)
  }, [canDrop])
  return (
    <FileDrop
      where={target && (target.path === '/' ? target.libraryName : nameOf(target.path))}
      refusal={props.refusal}
      onDropped={target && ((scan, into) => void addScan({ ...target, path: into ?? target.path }, scan))}
    >
      {props.children}
    </FileDrop>
  )
}

/** Accepts files and folders dropped on its children, if there is a handler. */
export function FileDrop(props: {
  /** Name of the target, if it is known before the drop. */
  where: string | undefined
  onDropped: ((scan: UploadScan, into: string | undefined) => void) | undefined
  refusal?: string | undefined
  children: ReactNode
}) {
  const { where, onDropped } = props
  const texts = useTexts('uploads')
  const depth = useRef(0)
  const [over, setOver] = useState(false)
  // A folder below the pointer is marked by itself, without the veil.
  const [isInto, setInto] = useState(false)
  useNoDropsElsewhere()
  const canDrop = onDropped !== undefined

  function enter(event: DragEvent): void {
    if (!bringsFiles(event)) return
    event.preventDefault()
    depth.current += 1
    setOver(true)
    setInto(pathBelow(event) !== undefined)
  }

  function leave(): void {
    depth.current = Math.max(0, depth.current - 1)
    if (depth.current === 0) setOver(false)
  }

  function hover(event: DragEvent): void {
    if (!bringsFiles(event)) return
    event.preventDefault()
    event.stopPropagation()
    event.dataTransfer.dropEffect = canDrop ? 'copy' : 'none'
    setInto(pathBelow(event) !== undefined)
  }

  function drop(event: DragEvent): void {
    if (!bringsFiles(event)) return
    event.preventDefault()
    event.stopPropagation()
    depth.current = 0
    setOver(false)
    if (onDropped !== undefined) onDropped(scanDroppedFiles(event.dataTransfer), pathBelow(event))
  }

  return (
    <div className="drop-zone" onDragEnter={enter} onDragLeave={leave} onDragOver={hover} onDrop={drop}>
      {props.children}
      {over && !canDrop && props.refusal !== undefined && (
        <div className="drop-veil">
          <div className="drop-sign drop-refused" role="alert">
            <Ban size={44} aria-hidden strokeWidth={1.5} />
            <strong>{props.refusal}</strong>
          </div>
        </div>
      )}
      {over && canDrop && !isInto && (
        <div className="drop-veil">
          <div className="drop-sign">
            <CloudUpload size={44} aria-hidden strokeWidth={1.5} />
            <strong>{where === undefined ? texts.dropAnywhere : texts.dropHere}</strong>
            {where !== undefined && (
              <span className="drop-where">
                <bdi>{where}</bdi>
              </span>
            )}
          </div>
        </div>
      )}
    </div>
  )
}

/** Path of the folder below the pointer that accepts the drop itself. */
function pathBelow({ target }: DragEvent): string | undefined {
  return (target as Element).closest<HTMLElement>('[data-upload-into]')?.dataset['uploadInto']
}

/** Handlers of an element outside of a drop zone that uploads dropped files. `over` is true while files are dragged over it. */
export function useFileDropPlace(target: UploadTarget | undefined) {
  const [over, setOver] = useState(false)
  return {
    over,
    handlers: {
      onDragOver(event: DragEvent) {
        if (target === undefined || !bringsFiles(event)) return
        event.preventDefault()
        event.stopPropagation()
        event.dataTransfer.dropEffect = 'copy'
        setOver(true)
      },
      onDragLeave: () => setOver(false),
      onDrop(event: DragEvent) {
        setOver(false)
        if (target === undefined || !bringsFiles(event)) return
        event.preventDefault()
        event.stopPropagation()
        void addScan(target, scanDroppedFiles(event.dataTransfer))
      },
    },
  }
}

const bringsFiles = ({ dataTransfer }: DragEvent) => dataTransfer.types.includes('Files')

/** Prevents the browser from opening a file that was dropped outside of the zone. */
function useNoDropsElsewhere(): void {
  useEffect(() => {
    const refuse = (event: globalThis.DragEvent) => {
      if (!event.dataTransfer?.types.includes('Files')) return
      event.preventDefault()
      event.dataTransfer.dropEffect = 'none'
    }
    addEventListener('dragover', refuse)
    addEventListener('drop', refuse)
    return () => {
      removeEventListener('dragover', refuse)
      removeEventListener('drop', refuse)
    }
  }, [])
}

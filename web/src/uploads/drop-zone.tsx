import './drop-zone.css'
import { CloudUpload } from 'lucide-react'
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { type DroppedFiles, readDroppedFiles } from './dropped-files.ts'
import { addUploads, loadEngine, type UploadTarget } from './uploads.ts'

/** Uploads files dropped on its children. Without a target it accepts no drops. */
export function DropZone(props: { target: UploadTarget | undefined; children: ReactNode }) {
  const { target } = props
  const canDrop = target !== undefined
  useEffect(() => {
    // Prefetches the engine, so that a drop works while the connection is lost.
    if (canDrop) loadEngine().catch(() => undefined)
  }, [canDrop])
  return (
    <FileDrop
      where={target && (target.path === '/' ? target.libraryName : nameOf(target.path))}
      onDropped={target && (({ files, emptyFolders }) => addUploads(target, files, emptyFolders))}
    >
      {props.children}
    </FileDrop>
  )
}

/** Accepts files and folders dropped on its children, if there is a handler. */
export function FileDrop(props: {
  /** Name of the target, if it is known before the drop. */
  where: string | undefined
  onDropped: ((dropped: DroppedFiles) => void) | undefined
  children: ReactNode
}) {
  const { where, onDropped } = props
  const texts = useTexts('uploads')
  const formats = useFormats()
  const toast = useToast()
  const tellFailure = useFailureToast()
  const depth = useRef(0)
  const [over, setOver] = useState(false)
  useNoDropsElsewhere()
  const canDrop = onDropped !== undefined

  function enter(event: DragEvent): void {
    if (!bringsFiles(event)) return
    event.preventDefault()
    depth.current += 1
    setOver(true)
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
  }

  async function drop(event: DragEvent): Promise<void> {
    if (!bringsFiles(event)) return
    event.preventDefault()
    event.stopPropagation()
    depth.current = 0
    setOver(false)
    if (onDropped === undefined) return
    try {
      const dropped = await readDroppedFiles(event.dataTransfer)
      const { unreadable } = dropped
      onDropped(dropped)
      if (unreadable > 0) toast({ text: texts.unreadable(unreadable, formats.number(unreadable)), bad: true })
    } catch (error) {
      tellFailure(error)
    }
  }

  return (
    <div
      className="drop-zone"
      onDragEnter={enter}
      onDragLeave={leave}
      onDragOver={hover}
      onDrop={(event) => void drop(event)}
    >
      {props.children}
      {over && canDrop && (
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

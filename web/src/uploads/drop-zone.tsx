import './drop-zone.css'
import { CloudUpload } from 'lucide-react'
import { type DragEvent, type ReactNode, useEffect, useRef, useState } from 'react'
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { useFailureToast, useToast } from '../ui/index.ts'
import { type DroppedFiles, readDroppedFiles } from './dropped-files.ts'
import { addUploads, loadEngine, type UploadTarget } from './uploads.ts'

/** Uploads what is dropped on what it surrounds; no target, no drops. */
export function DropZone(props: { target: UploadTarget | undefined; children: ReactNode }) {
  const { target } = props
  const canDrop = target !== undefined
  useEffect(() => {
    // Fetched ahead: files may be dropped just when the connection is gone.
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

/** Takes files and folders dropped on what it surrounds, if somebody wants them. */
export function FileDrop(props: {
  /** The name of where they go, where that is known before. */
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

/** A file that misses its place would be opened by the browser, and the app would be gone. */
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

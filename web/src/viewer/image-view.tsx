import { useQuery } from '@tanstack/react-query'
import { Info, Maximize, ZoomIn, ZoomOut } from 'lucide-react'
import { useContext, useEffect, useState } from 'react'
import { createPortal } from 'react-dom'
import { drawingQuery, fetchThumbnail, linkQuery } from '../api/index.ts'
import { extensionOf, isSvg } from '../file-kinds.ts'
import { useTexts } from '../texts/index.ts'
import { IconButton, LoadError, Waiting } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'
import { PhotoPanel } from './photo-panel.tsx'
import type { SiblingNavigation } from './sibling-files.ts'
import { ToolbarSlot } from './toolbar-slot.ts'
import { useZoom } from './use-zoom.ts'

const SMALLER_SIZE = 2048
/** Formats that few browsers decode. */
const SERVER_DECODED = new Set(['heic', 'heif', 'tif', 'tiff'])

/** An image, fitted to the page and zoomable. An SVG in an `img` element runs no scripts. */
export function ImageView(props: { file: OpenedFile; stepping: SiblingNavigation }) {
  const { file, stepping } = props
  const texts = useTexts('viewer')
  // A link may permit previews only.
  const isOriginal = visitedLink?.canDownload !== false && !SERVER_DECODED.has(extensionOf(file.name))
  if (isOriginal) return <Original {...props} />
  if (file.commitId !== undefined) return <InfoCard file={file} why={texts.cannotShow} />
  return <Smaller file={file} stepping={stepping} />
}

function Original({ file, stepping }: { file: OpenedFile; stepping: SiblingNavigation }) {
  const texts = useTexts('viewer')
  const { data: link, error, refetch } = useQuery(isSvg(file.name) ? drawingQuery(file) : linkQuery(file))
  const [unseen, setUnseen] = useState<string>()
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (link === undefined) return <Waiting />
  if (unseen !== link) {
    return (
      <Stage key={file.id} source={link} file={file} stepping={stepping} onError={() => setUnseen(link)} />
    )
  }
  if (file.commitId !== undefined) return <InfoCard file={file} why={texts.cannotShow} />
  return <Smaller file={file} stepping={stepping} />
}

/** The server's thumbnail of an image that the browser cannot decode. */
function Smaller({ file, stepping }: { file: OpenedFile; stepping: SiblingNavigation }) {
  const texts = useTexts('viewer')
  const { data: blob, isError } = useQuery({
    queryKey: ['file-picture', file.libraryId, file.path, file.id],
    queryFn: ({ signal }) => fetchThumbnail(file.libraryId, file.path, SMALLER_SIZE, signal),
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
  })
  const [source, setSource] = useState<string>()
  const [isBroken, setBroken] = useState(false)
  useEffect(() => {
    if (blob === undefined) return
    const url = URL.createObjectURL(blob)
    setSource(url)
    return () => URL.revokeObjectURL(url)
  }, [blob])
  if (isError || isBroken) return <InfoCard file={file} why={texts.cannotShow} />
  if (source === undefined) return <Waiting />
  return <Stage file={file} source={source} stepping={stepping} onError={() => setBroken(true)} />
}

function Stage(props: {
  file: OpenedFile
  source: string
  stepping: SiblingNavigation
  onError: () => void
}) {
  const texts = useTexts('viewer')
  const { file, source, onError } = props
  const { toPrevious, toNext } = props.stepping
  const zoom = useZoom((isForward) => (isForward ? toNext?.() : toPrevious?.()))
  const slot = useContext(ToolbarSlot)
  const [isThere, setThere] = useState(false)
  const [hasPanel, setPanel] = usePanel()
  const { scale, x, y } = zoom.view
  return (
    <div className="viewer-body viewer-image">
      {/* biome-ignore lint/a11y/useSemanticElements: a group that can be moved by keys. */}
      <div
        ref={zoom.stage}
        className={`viewer-stage${scale > 1 ? ' viewer-stage-near' : ''}`}
        role="group"
        aria-label={texts.pictureHint}
        // biome-ignore lint/a11y/noNoninteractiveTabindex: moved and zoomed by keys while it has the focus.
        tabIndex={0}
        {...zoom.handlers}
      >
        {!isThere && <Waiting />}
        <img
          src={source}
          alt={file.name}
          draggable={false}
          className={isThere ? '' : 'viewer-hidden'}
          style={{ transform: `translate(${x}px, ${y}px) scale(${scale})` }}
          onLoad={() => setThere(true)}
          onError={onError}
        />
      </div>
      {hasPanel && <PhotoPanel file={file} />}
      {slot &&
        createPortal(
          <div className="viewer-zoom" role="toolbar" aria-label={texts.zoom}>
            <IconButton label={texts.zoomOut} icon={ZoomOut} disabled={scale <= 1} onClick={zoom.out} />
            <output className="viewer-scale" aria-label={texts.zoom}>
              {texts.percent(Math.round(scale * 100))}
            </output>
            <IconButton label={texts.zoomIn} icon={ZoomIn} disabled={zoom.isNearest} onClick={zoom.in} />
            <IconButton label={texts.fit} icon={Maximize} disabled={scale === 1} onClick={zoom.reset} />
            <IconButton
              label={texts.photoDetails}
              icon={Info}
              aria-expanded={hasPanel}
              onClick={() => setPanel(!hasPanel)}
            />
          </div>,
          slot,
        )}
    </div>
  )
}

let isPanelOpen = false

/** Stays open from one photo to the next. */
function usePanel(): [boolean, (open: boolean) => void] {
  const [hasPanel, setPanel] = useState(isPanelOpen)
  const set = (open: boolean) => {
    isPanelOpen = open
    setPanel(open)
  }
  return [hasPanel, set]
}

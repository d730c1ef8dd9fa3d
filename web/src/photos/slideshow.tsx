import { useQuery } from '@tanstack/react-query'
import { ChevronLeft, ChevronRight, Maximize, Pause, Play, Star, X } from 'lucide-react'
import { type KeyboardEvent, useEffect, useRef, useState } from 'react'
import {
  fetchThumbnail,
  openFile,
  type Photo,
  type PhotoDay,
  type PhotoSet,
  usePhotoAt,
} from '../api/index.ts'
import { nameOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { forwardKey, IconButton, usePlaceholder } from '../ui/index.ts'

const SHOWN_MS = 5000
const PIXELS = 2048

/** Shows the photos of a timeline one after another on the whole screen. Pictures are the smaller copies of the server, which every browser decodes. */
export function Slideshow(props: {
  days: readonly PhotoDay[]
  set: PhotoSet
  start: number
  onStar: (photo: Photo) => void
  /** Called with the place of the last photo. */
  onClose: (place: number) => void
}) {
  const { days, set } = props
  const texts = useTexts('photos')
  const viewer = useTexts('viewer')
  const common = useTexts('common')
  const formats = useFormats()
  const [place, setPlace] = useState(props.start)
  const [isRunning, setRunning] = useState(true)
  /** The place whose picture is on the screen. */
  const [shown, setShown] = useState<number>()
  const total = days.reduce((sum, { count }) => sum + count, 0)
  const photo = usePhotoAt(days, set, place)
  // The next one is loaded while this one is shown.
  usePicture(usePhotoAt(days, set, place + 1))
  const dialog = useRef<HTMLDialogElement>(null)
  useEffect(() => dialog.current?.showModal(), [])
  const isLast = place >= total - 1
  const isVideo = photo?.type === 'video'
  useEffect(() => {
    if (!isRunning || isVideo || shown !== place) return
    const timer = setTimeout(() => (isLast ? setRunning(false) : setPlace(place + 1)), SHOWN_MS)
    return () => clearTimeout(timer)
  }, [isRunning, isVideo, shown, place, isLast])
  const step = (by: -1 | 1) => setPlace(Math.min(total - 1, Math.max(0, place + by)))
  const onKeyDown = (event: KeyboardEvent) => {
    if (event.altKey || event.ctrlKey || event.metaKey) return
    const isOnButton = event.target instanceof Element && event.target.closest('button, video') !== null
    const key = forwardKey(event.key)
    if (key === 'ArrowLeft' || key === 'ArrowRight') step(key === 'ArrowLeft' ? -1 : 1)
    else if (event.key === ' ' && !isOnButton) setRunning(!isRunning)
    else if (event.key === 's' && photo !== undefined) props.onStar(photo)
    else return
    event.preventDefault()
    event.stopPropagation()
  }
  const name = photo === undefined ? '' : nameOf(photo.path)
  return (
    // biome-ignore lint/a11y/noNoninteractiveElementInteractions: keys of the whole dialog.
    <dialog
      ref={dialog}
      className="slideshow"
      aria-label={texts.slideshow}
      onKeyDown={onKeyDown}
      onCancel={(event) => {
        event.preventDefault()
        props.onClose(place)
      }}
    >
      {photo !== undefined && (
        <Frame
          key={`${photo.repo_id}${photo.path}`}
          photo={photo}
          onShown={() => setShown(place)}
          onEnded={() => (isRunning && !isLast ? step(1) : setRunning(false))}
        />
      )}
      <div className="slideshow-bar">
        <span className="slideshow-about" role="status">
          <bdi>{name}</bdi>
          {photo !== undefined && <span>{formats.date(photo.taken.slice(0, 19))}</span>}
        </span>
        <span>{viewer.position(place + 1, total)}</span>
        <IconButton
          label={viewer.previous}
          icon={ChevronLeft}
          disabled={place === 0}
          onClick={() => step(-1)}
        />
        <IconButton
          label={isRunning ? texts.pause : texts.play}
          icon={isRunning ? Pause : Play}
          autoFocus
          onClick={() => setRunning(!isRunning)}
        />
        <IconButton label={viewer.next} icon={ChevronRight} disabled={isLast} onClick={() => step(1)} />
        <IconButton
          label={texts.favourite(name)}
          icon={Star}
          className="photos-starred"
          aria-pressed={photo?.starred === true}
          disabled={photo === undefined}
          onClick={() => photo && props.onStar(photo)}
        />
        <IconButton
          label={texts.fullScreen}
          icon={Maximize}
          onClick={() => void toggleFullScreen(dialog.current)}
        />
        <IconButton label={common.close} icon={X} onClick={() => props.onClose(place)} />
      </div>
    </dialog>
  )
}

function Frame({ photo, onShown, onEnded }: { photo: Photo; onShown: () => void; onEnded: () => void }) {
  const texts = useTexts('viewer')
  const name = nameOf(photo.path)
  const placeholder = usePlaceholder(photo.thumbhash)
  const { url, isFailed } = usePicture(photo)
  const shown = useRef(onShown)
  shown.current = onShown
  useEffect(() => {
    // What cannot be shown does not stop the show.
    if (isFailed) shown.current()
  }, [isFailed])
  if (isFailed) return <p className="slideshow-failed">{texts.cannotShow}</p>
  if (url === undefined)
    return placeholder === undefined ? null : <img className="slideshow-frame" src={placeholder} alt="" />
  if (photo.type === 'image') return <img className="slideshow-frame" src={url} alt={name} onLoad={onShown} />
  return (
    // biome-ignore lint/a11y/useMediaCaption: a video of the user has none.
    <video
      className="slideshow-frame"
      src={url}
      aria-label={name}
      autoPlay
      muted
      controls
      playsInline
      onEnded={onEnded}
      onError={onShown}
    />
  )
}

/** A smaller copy of an image, the link of a video. */
function usePicture(photo: Photo | undefined): { url: string | undefined; isFailed: boolean } {
  const { data, isError } = useQuery({
    queryKey: ['photo-picture', photo?.repo_id, photo?.path, photo?.id],
    queryFn: async ({ signal }) => {
      const { repo_id: libraryId = '', path = '', id = '' } = photo ?? {}
      if (photo?.type === 'video')
        return (await openFile({ libraryId, path, id, commitId: undefined }, signal)).link
      return fetchThumbnail(libraryId, path, PIXELS, signal)
    },
    enabled: photo !== undefined,
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 30_000,
  })
  const [url, setUrl] = useState<string>()
  useEffect(() => {
    if (data === undefined || typeof data === 'string') return setUrl(data)
    const made = URL.createObjectURL(data)
    setUrl(made)
    return () => URL.revokeObjectURL(made)
  }, [data])
  return { url, isFailed: isError }
}

async function toggleFullScreen(element: HTMLElement | null): Promise<void> {
  // Refused where the browser or a frame does not allow it.
  if (document.fullscreenElement === null) await element?.requestFullscreen().catch(() => undefined)
  else await document.exitFullscreen()
}

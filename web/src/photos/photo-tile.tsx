import { Play, Star } from 'lucide-react'
import { type MouseEvent, memo } from 'react'
import { Link } from 'wouter'
import { type Photo, type PhotoSet, photoDay } from '../api/index.ts'
import { useThumbnail } from '../files/index.ts'
import { photoUrl } from '../navigation/index.ts'
import { nameOf, parentOf } from '../paths.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { usePlaceholder } from '../ui/index.ts'

/** For screens with two pixels for one. */
const PIXELS = 384

/** A photo of the timeline: a link to it, and a checkbox. */
export const PhotoTile = memo(function PhotoTile(props: {
  photo: Photo
  set: PhotoSet
  place: number
  isFocusable: boolean
  isChosen: boolean
  isSelecting: boolean
  /** With `isRange`, everything from the photo that was chosen before. */
  onToggle: (isRange: boolean) => void
  onStar: () => void
  onFocus: () => void
}) {
  const { photo, place, isChosen, isSelecting, onToggle } = props
  const texts = useTexts('files')
  const own = useTexts('photos')
  const formats = useFormats()
  const name = nameOf(photo.path)
  const placeholder = usePlaceholder(photo.thumbhash)
  const here = { libraryId: photo.repo_id, path: parentOf(photo.path), encrypted: false }
  const thumbnail = useThumbnail(here, { ...photo, type: 'file', name }, PIXELS)
  const onClick = (event: MouseEvent) => {
    if (!isSelecting && !event.shiftKey) return
    event.preventDefault()
    onToggle(event.shiftKey)
  }
  return (
    <span className={`photos-tile${isChosen ? ' photos-chosen' : ''}`}>
      <Link
        to={photoUrl(photo.repo_id, photo.path, photoDay(photo), props.set)}
        className="photos-open"
        tabIndex={props.isFocusable ? 0 : -1}
        data-place={place}
        aria-label={`${name}, ${formats.date(photo.taken.slice(0, 19))}`}
        style={placeholder === undefined ? undefined : { backgroundImage: `url("${placeholder}")` }}
        onClick={onClick}
        onFocus={props.onFocus}
      >
        {thumbnail === undefined ? (
          photo.thumbhash === undefined && <span className="photos-name">{name}</span>
        ) : (
          <img src={thumbnail} alt="" draggable={false} />
        )}
        {photo.type === 'video' && <Play className="photos-play" size={18} aria-hidden />}
      </Link>
      <button
        type="button"
        tabIndex={-1}
        className="photos-star"
        aria-pressed={photo.starred}
        aria-label={own.favourite(name)}
        onClick={props.onStar}
      >
        <Star size={16} aria-hidden />
      </button>
      <label className="photos-check">
        <input
          type="checkbox"
          tabIndex={-1}
          checked={isChosen}
          aria-label={texts.select(name)}
          readOnly
          onClick={(event) => onToggle(event.shiftKey)}
        />
      </label>
    </span>
  )
})

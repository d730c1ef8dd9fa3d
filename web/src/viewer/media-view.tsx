import { useQuery } from '@tanstack/react-query'
import { Music } from 'lucide-react'
import { useState } from 'react'
import { linkQuery } from '../api/index.ts'
import { useTexts } from '../texts/index.ts'
import { LoadError, Waiting } from '../ui/index.ts'
import { InfoCard } from './info-card.tsx'
import type { OpenedFile } from './opened-file.ts'

/** Video and audio, played by the browser with range requests, so that seeking works. */
export function MediaView(props: { file: OpenedFile; kind: 'video' | 'audio' }) {
  const { file, kind } = props
  const texts = useTexts('viewer')
  const { data: link, error, refetch } = useQuery(linkQuery(file))
  const [unplayable, setUnplayable] = useState<string>()
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (link === undefined) return <Waiting />
  if (unplayable === link) return <InfoCard file={file} why={texts.cannotPlay} />
  const shared = {
    src: link,
    controls: true,
    preload: 'metadata',
    'aria-label': file.name,
    onError: () => setUnplayable(link),
  } as const
  if (kind === 'video') {
    return (
      <div className="viewer-body viewer-media">
        {/* biome-ignore lint/a11y/useMediaCaption: captions are in the file, or there are none. */}
        <video {...shared} playsInline />
      </div>
    )
  }
  return (
    <div className="viewer-body viewer-media viewer-sound">
      <span className="viewer-sound-sign">
        <Music size={64} strokeWidth={1.2} aria-hidden />
      </span>
      {/* biome-ignore lint/a11y/useMediaCaption: captions are in the file, or there are none. */}
      <audio {...shared} />
    </div>
  )
}

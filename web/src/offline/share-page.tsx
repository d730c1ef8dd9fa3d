import { Share2 } from 'lucide-react'
import { useEffect, useRef, useState } from 'react'
import { useLocation } from 'wouter'
import { LazyFolderPicker } from '../files/index.ts'
import { folderUrl } from '../navigation/index.ts'
import { useTexts } from '../texts/index.ts'
import { ButtonLink, Empty, useTitle, Waiting } from '../ui/index.ts'
import { addUploads } from '../uploads/index.ts'
import { SHARED } from './offline-data.ts'

/** Asks for a folder for the files that another app shares, and uploads them there. */
export default function SharePage() {
  const texts = useTexts('uploads')
  const common = useTexts('common')
  useTitle(texts.sharedTitle)
  const [, go] = useLocation()
  const [files, setFiles] = useState<readonly File[]>()
  const isChosen = useRef(false)
  useEffect(() => {
    void sharedFiles().then(setFiles, () => setFiles([]))
  }, [])
  if (files === undefined) return <Waiting />
  if (files.length === 0) {
    return (
      <Empty icon={Share2} title={texts.nothingShared} hint={texts.nothingSharedHint}>
        <ButtonLink to="/">{common.toLibraries}</ButtonLink>
      </Empty>
    )
  }
  return (
    <LazyFolderPicker
      title={texts.sharedInto(files.length, files[0]?.name ?? '')}
      submit={texts.sharedUpload}
      onChoose={async (place) => {
        isChosen.current = true
        const isRecorded = await addUploads(
          place,
          files.map((file) => ({ file, relativePath: file.name })),
        )
        if (isRecorded) await caches.delete(SHARED)
        go(folderUrl(place.libraryId, place.path))
      }}
      onClose={() => isChosen.current || go('/')}
    />
  )
}

/** The files that the service worker received. */
async function sharedFiles(): Promise<File[]> {
  const cache = await caches.open(SHARED)
  const files = []
  for (const request of await cache.keys()) {
    const response = await cache.match(request)
    if (response === undefined) continue
    const name = decodeURIComponent(response.headers.get('X-Carrel-Name') ?? '').replaceAll('/', '-')
    const blob = await response.blob()
    files.push(new File([blob], name || 'file', { type: blob.type }))
  }
  return files
}

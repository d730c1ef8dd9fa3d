import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { fetchBytes, fetchFileDetail, openFile } from '../api/index.ts'
import { DiffView } from '../diff/index.ts'
import { decodeText, MAX_BYTES } from '../text-content.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, Dialog, LoadError, Waiting } from '../ui/index.ts'
import type { OpenedFile } from './opened-file.ts'
import type { Conflict, TextSession } from './use-text-session.ts'

/** Asks how to resolve an edit conflict. */
export function ConflictDialog(props: { file: OpenedFile; session: TextSession; conflict: Conflict }) {
  const { file, session, conflict } = props
  const texts = useTexts('viewer')
  const [isComparing, setComparing] = useState(false)
  const close = () => session.setConflict(undefined)
  const { theirs } = conflict
  if (theirs === undefined) {
    return (
      <Dialog
        title={texts.goneTitle}
        onClose={close}
        foot={
          <Button variant="primary" busy={session.busy} onClick={() => void session.saveBeside()}>
            {texts.saveAnew}
          </Button>
        }
      >
        <p>{texts.goneExplained}</p>
      </Dialog>
    )
  }
  return (
    <Dialog
      title={texts.conflictTitle}
      onClose={close}
      wide={isComparing}
      foot={
        <>
          <Button disabled={session.busy} onClick={session.reload}>
            {texts.takeTheirs}
          </Button>
          <Button variant="danger" disabled={session.busy} onClick={() => void session.save(theirs)}>
            {texts.overwrite}
          </Button>
          <Button variant="primary" busy={session.busy} onClick={() => void session.saveBeside()}>
            {texts.saveCopy}
          </Button>
        </>
      }
    >
      <WhoChanged file={file} />
      <p>{texts.conflictHint}</p>
      <div>
        <Button aria-expanded={isComparing} onClick={() => setComparing(!isComparing)}>
          {isComparing ? texts.hideBoth : texts.seeBoth}
        </Button>
      </div>
      {isComparing && <Both file={file} theirs={theirs} mine={session.current} />}
    </Dialog>
  )
}

function WhoChanged({ file }: { file: OpenedFile }) {
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const formats = useFormats()
  const { data } = useQuery({
    queryKey: ['file-detail', file.libraryId, file.path],
    queryFn: ({ signal }) => fetchFileDetail(file.libraryId, file.path, signal),
    gcTime: 0,
  })
  if (data === undefined) return null
  const { last_modifier_name: name, last_modifier_via_link: isVisitor } = data
  return <p>{texts.changedBy(isVisitor ? common.visitor(name) : name, formats.ago(data.mtime))}</p>
}

function Both(props: { file: OpenedFile; theirs: string; mine: string }) {
  const { file, theirs, mine } = props
  const texts = useTexts('viewer')
  const { data, error, refetch } = useQuery({
    queryKey: ['file-theirs', file.libraryId, file.path, theirs],
    queryFn: async ({ signal }) => {
      const { link } = await openFile(file, signal)
      const bytes = await fetchBytes(link, MAX_BYTES, signal)
      return decodeText(bytes, bytes.length < MAX_BYTES)?.text ?? ''
    },
    gcTime: 0,
  })
  if (error) return <LoadError error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Waiting />
  return <DiffView before={data} after={mine} labels={{ before: texts.theirs, after: texts.mine }} />
}

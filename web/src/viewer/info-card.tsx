import { Download } from 'lucide-react'
import type { ReactNode } from 'react'
import { downloadFile } from '../api/index.ts'
import { useFormats, useTexts } from '../texts/index.ts'
import { Button, FileIcon, useFailureToast, visibleName } from '../ui/index.ts'
import { visitedLink } from '../visited-link.ts'
import type { OpenedFile } from './opened-file.ts'

/** Shown instead of content that cannot be displayed: file details and a download button. */
export function InfoCard(props: { file: OpenedFile; why?: ReactNode }) {
  const { file, why } = props
  const texts = useTexts('viewer')
  const common = useTexts('common')
  const formats = useFormats()
  const failed = useFailureToast()
  const { entry } = file
  return (
    <div className="viewer-body viewer-info">
      <div className="card viewer-info-card">
        <FileIcon name={file.name} size={52} />
        <p className="viewer-info-name">
          <bdi>{visibleName(file.name)}</bdi>
        </p>
        <p className="muted">{why ?? texts.noPreview}</p>
        <dl>
          <dt>{common.size}</dt>
          <dd>{formats.size(file.size)}</dd>
          <dt>{common.modified}</dt>
          <dd>{formats.moment(file.mtime)}</dd>
          {entry.modifier_name && (
            <>
              <dt>{texts.modifiedBy}</dt>
              <dd>
                <bdi>
                  {entry.modifier_via_link ? common.visitor(entry.modifier_name) : entry.modifier_name}
                </bdi>
              </dd>
            </>
          )}
        </dl>
        {visitedLink?.canDownload !== false && (
          <Button
            variant="primary"
            icon={Download}
            onClick={() => void downloadFile(file.libraryId, file.path, file.commitId).catch(failed)}
          >
            {common.download}
          </Button>
        )}
      </div>
    </div>
  )
}

/** A video that has not shown anything by then is given up. */
const GIVE_UP_MS = 20_000
const SEEK_MS = 3000

/**
 * The first frame of a video as a JPEG whose longer side has at most `size` pixels. The browser decodes it, in its own sandbox, from the
 * parts of the file that it asks for. Rejects if it cannot play the video.
 */
export async function captureFrame(source: string, size: number, signal: AbortSignal): Promise<Blob> {
  const video = document.createElement('video')
  video.muted = true
  video.preload = 'metadata'
  video.playsInline = true
  try {
    await firstFrame(video, source, signal)
    // Many videos fade in.
    if (isBlack(video)) await seek(video, Math.min(1, video.duration / 2))
    const scale = Math.min(1, size / Math.max(video.videoWidth, video.videoHeight))
    const canvas = document.createElement('canvas')
    canvas.width = Math.max(1, Math.round(video.videoWidth * scale))
    canvas.height = Math.max(1, Math.round(video.videoHeight * scale))
    canvas.getContext('2d')?.drawImage(video, 0, 0, canvas.width, canvas.height)
    return await new Promise<Blob>((resolve, reject) =>
      canvas.toBlob((blob) => (blob ? resolve(blob) : reject(new Error('no frame'))), 'image/jpeg', 0.8),
    )
  } finally {
    // Ends the download.
    video.removeAttribute('src')
    video.load()
  }
}

function firstFrame(video: HTMLVideoElement, source: string, signal: AbortSignal): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>()
  const stop = () => reject(new Error('stopped'))
  const timer = setTimeout(stop, GIVE_UP_MS)
  signal.addEventListener('abort', stop)
  video.addEventListener('loadeddata', () => (video.videoWidth > 0 ? resolve() : stop()))
  video.addEventListener('error', stop)
  video.src = source
  return promise.finally(() => {
    clearTimeout(timer)
    signal.removeEventListener('abort', stop)
  })
}

function isBlack(video: HTMLVideoElement): boolean {
  const canvas = document.createElement('canvas')
  canvas.width = 8
  canvas.height = 8
  const drawing = canvas.getContext('2d')
  drawing?.drawImage(video, 0, 0, 8, 8)
  return drawing?.getImageData(0, 0, 8, 8).data.every((byte, index) => index % 4 === 3 || byte < 16) ?? false
}

/** Shows another moment. The first frame stays if that takes long. */
function seek(video: HTMLVideoElement, seconds: number): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  const timer = setTimeout(resolve, SEEK_MS)
  video.addEventListener('seeked', () => resolve(), { once: true })
  video.currentTime = seconds
  return promise.finally(() => clearTimeout(timer))
}

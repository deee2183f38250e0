/** A file a command prints into, read as it grows. */
import * as fs from 'node:fs';
import { StringDecoder } from 'node:string_decoder';

const LOOK_MS = 200;

export class LogFile {
  private constructor(
    private readonly file: string,
    readonly fd: number,
  ) {}

  static open(file: string): LogFile {
    return new LogFile(file, fs.openSync(file, 'w', 0o600));
  }

  /** Gives back what ends the reading, after a last look. */
  follow(take: (text: string) => void): () => void {
    const reading = fs.openSync(this.file, 'r');
    const decoder = new StringDecoder('utf8');
    const piece = Buffer.alloc(1 << 16);
    const look = () => {
      for (let n = fs.readSync(reading, piece); n > 0; n = fs.readSync(reading, piece))
        take(decoder.write(piece.subarray(0, n)));
    };
    const timer = setInterval(look, LOOK_MS);
    return () => {
      clearInterval(timer);
      look();
      fs.closeSync(reading);
      fs.closeSync(this.fd);
    };
  }
}

/** A running S3 server, and what tests need to use it. */
export interface S3Server extends AsyncDisposable {
  readonly endpoint: string;
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

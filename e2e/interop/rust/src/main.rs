//! A busy client on tonic: many calls in flight on one channel. It prints what it did, and fails if a call fails.
//! QUOIN_TOKEN is its token.
//!
//! Arguments: ENDPOINT, and steps of the form PATTERN:IN_FLIGHT:CALLS:VALUE_BYTES. The patterns are put, get, list (all
//! values in one page) and watch (which it cancels after the first message).

mod proto {
    tonic::include_proto!("coordination.v1");
}

use proto::key_value_service_client::KeyValueServiceClient;
use proto::watch_service_client::WatchServiceClient;
use proto::{GetKeyRequest, ListKeysRequest, PutKeyRequest, WatchKeysRequest};
use std::time::{Duration, Instant};
use std::{collections::BTreeMap, env, error::Error, process};
use tokio::task::JoinSet;
use tonic::transport::{Channel, Endpoint};
use tonic::{Request, Status};

const KEYS: usize = 100;
const PREFIX: &str = "interop/rust/";
const NAMESPACE: &str = "default";
const CALL_LIMIT: Duration = Duration::from_secs(60);
const ANSWER_BYTES_MAX: usize = 64 << 20;

/// Why calls failed, and how many.
type Failures = BTreeMap<String, usize>;

#[tokio::main(flavor = "current_thread")]
async fn main() -> Result<(), Box<dyn Error>> {
    let args: Vec<String> = env::args().collect();
    let channel = Endpoint::from_shared(format!("http://{}", args[1]))?.connect().await?;
    let mut failures = Failures::new();
    for step in &args[2..] {
        let parts: Vec<&str> = step.split(':').collect();
        let (in_flight, calls, bytes) = (parts[1].parse()?, parts[2].parse()?, parts[3].parse()?);
        repeat(&channel, "put", 10, KEYS, bytes, &mut failures).await;
        let began = Instant::now();
        repeat(&channel, parts[0], in_flight, calls, bytes, &mut failures).await;
        let rate = calls as f64 / began.elapsed().as_secs_f64();
        println!("{step}: {rate:.0} calls/s, failures {failures:?}");
    }
    process::exit(if failures.is_empty() { 0 } else { 1 });
}

async fn repeat(
    channel: &Channel,
    pattern: &str,
    in_flight: usize,
    calls: usize,
    bytes: usize,
    failures: &mut Failures,
) {
    let mut open: JoinSet<Result<(), Status>> = JoinSet::new();
    for at in 0..calls + in_flight {
        if at >= in_flight.min(calls)
            && let Some(Ok(Err(status))) = open.join_next().await
        {
            *failures.entry(format!("{} {}", status.code(), status.message())).or_default() += 1;
        }
        if at < calls {
            open.spawn(call(channel.clone(), pattern.to_owned(), at % KEYS, bytes));
        }
    }
}

async fn call(channel: Channel, pattern: String, number: usize, bytes: usize) -> Result<(), Status> {
    let (namespace, prefix) = (NAMESPACE.to_owned(), PREFIX.to_owned());
    let key = format!("{PREFIX}{number}");
    if pattern == "watch" {
        let request = request(WatchKeysRequest { namespace, prefix, ..Default::default() });
        let mut stream = WatchServiceClient::new(channel).watch_keys(request).await?.into_inner();
        // The stream is cancelled when it is dropped.
        return stream.message().await.map(|_| ());
    }
    let mut client = KeyValueServiceClient::new(channel).max_decoding_message_size(ANSWER_BYTES_MAX);
    match pattern.as_str() {
        "put" => {
            let value = vec![0; bytes];
            client.put_key(request(PutKeyRequest { namespace, key, value, ..Default::default() })).await.map(|_| ())
        }
        "get" => client.get_key(request(GetKeyRequest { namespace, key, ..Default::default() })).await.map(|_| ()),
        "list" => {
            let page_size = KEYS as i32;
            let page = ListKeysRequest { namespace, prefix, page_size, ..Default::default() };
            client.list_keys(request(page)).await.map(|_| ())
        }
        _ => panic!("no such pattern: {pattern}"),
    }
}

fn request<Message>(message: Message) -> Request<Message> {
    let mut request = Request::new(message);
    request.set_timeout(CALL_LIMIT);
    let authorization = format!("Bearer {}", env::var("QUOIN_TOKEN").expect("QUOIN_TOKEN is set"));
    request.metadata_mut().insert("authorization", authorization.parse().expect("a token is ASCII"));
    request.metadata_mut().insert("api-version", "v1".parse().expect("a version is ASCII"));
    let id = uuid::Uuid::new_v4().to_string();
    request.metadata_mut().insert("request-id", id.parse().expect("a UUID is ASCII"));
    request
}

import com.google.protobuf.ByteString;
import dev.quoin.coordination.v1.*;
import io.grpc.*;
import io.grpc.stub.*;
import java.util.*;
import java.util.concurrent.*;

/**
 * A busy client on grpc-java: many calls in flight on one channel. It fails if a call fails. QUOIN_TOKEN is its token.
 *
 * <p>Arguments: ENDPOINT, and steps of the form PATTERN:IN_FLIGHT:CALLS:VALUE_BYTES. The patterns are put, get, list (all
 * values in one page) and watch (which it cancels after the first message).
 */
public final class Load {
  private static final int KEYS = 100;
  private static final Map<String, Integer> FAILURES = new TreeMap<>();

  public static void main(String[] args) throws Exception {
    ManagedChannel channel = ManagedChannelBuilder.forTarget(args[0]).usePlaintext().maxInboundMessageSize(64 << 20).build();
    for (String step : Arrays.copyOfRange(args, 1, args.length)) {
      String[] parts = step.split(":");
      ByteString value = ByteString.copyFrom(new byte[Integer.parseInt(parts[3])]);
      repeat(channel, "put", 10, KEYS, value);
      repeat(channel, parts[0], Integer.parseInt(parts[1]), Integer.parseInt(parts[2]), value);
      System.out.printf("%s: failures %s%n", step, FAILURES);
    }
    channel.shutdownNow();
    System.exit(FAILURES.isEmpty() ? 0 : 1);
  }

  private static void repeat(Channel channel, String pattern, int inFlight, int calls, ByteString value) throws Exception {
    Semaphore free = new Semaphore(inFlight);
    for (int at = 0; at < calls; at++) {
      free.acquire();
      Metadata headers = new Metadata();
      Map.of("authorization", "Bearer " + System.getenv("QUOIN_TOKEN"), "api-version", "v1", "request-id", UUID.randomUUID().toString())
          .forEach((name, text) -> headers.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), text));
      Channel attached = ClientInterceptors.intercept(channel, MetadataUtils.newAttachHeadersInterceptor(headers));
      var keys = KeyValueServiceGrpc.newStub(attached).withDeadlineAfter(1, TimeUnit.MINUTES);
      String key = "interop/java/" + at % KEYS;
      var cancellation = Context.current().withCancellation();
      StreamObserver<Object> answer = new StreamObserver<>() {
        private boolean isAnswered;
        @Override public void onNext(Object message) { isAnswered = true; if (message instanceof WatchKeysResponse) cancellation.cancel(null); }
        @Override public void onCompleted() { free.release(); }
        @Override public void onError(Throwable thrown) {
          if (!isAnswered) synchronized (FAILURES) { FAILURES.merge(thrown.toString(), 1, Integer::sum); }
          free.release();
        }
      };
      switch (pattern) {
        case "put" -> keys.putKey(PutKeyRequest.newBuilder().setNamespace("default").setKey(key).setValue(value).build(), (StreamObserver) answer);
        case "get" -> keys.getKey(GetKeyRequest.newBuilder().setNamespace("default").setKey(key).build(), (StreamObserver) answer);
        case "list" -> keys.listKeys(ListKeysRequest.newBuilder().setNamespace("default").setPrefix("interop/java/").setPageSize(KEYS).build(), (StreamObserver) answer);
        default -> cancellation.run(() -> WatchServiceGrpc.newStub(attached).watchKeys(WatchKeysRequest.newBuilder().setNamespace("default").build(), (StreamObserver) answer));
      }
    }
    free.acquire(inFlight);
  }
}

import com.google.protobuf.ByteString;
import com.google.protobuf.DescriptorProtos.FileDescriptorProto;
import com.google.protobuf.DescriptorProtos.FileDescriptorSet;
import com.google.protobuf.Descriptors.Descriptor;
import com.google.protobuf.Descriptors.DescriptorValidationException;
import com.google.protobuf.Descriptors.FileDescriptor;
import com.google.protobuf.DynamicMessage;
import io.grpc.CallOptions;
import io.grpc.Channel;
import io.grpc.ClientCall;
import io.grpc.ManagedChannel;
import io.grpc.ManagedChannelBuilder;
import io.grpc.Metadata;
import io.grpc.MethodDescriptor;
import io.grpc.MethodDescriptor.MethodType;
import io.grpc.Status;
import io.grpc.protobuf.ProtoUtils;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * A busy client on grpc-java: many calls in flight on one channel. It prints what it did, and fails if a call fails.
 * QUOIN_TOKEN is its token, QUOIN_DESCRIPTORS the file with the contract.
 *
 * <p>Arguments: ENDPOINT, and steps of the form PATTERN:IN_FLIGHT:CALLS:VALUE_BYTES. The patterns are put, get, list (all
 * values in one page) and watch (which it cancels after the first message).
 */
public final class Load {
  private static final int KEYS = 100;
  private static final int ANSWER_BYTES_MAX = 64 << 20;
  private static final String PREFIX = "interop/java/";
  private final Map<String, FileDescriptor> files = new HashMap<>();
  private final Map<String, Integer> failures = new TreeMap<>();
  private final Channel channel;

  private Load(Channel channel) throws Exception {
    this.channel = channel;
    byte[] encoded = Files.readAllBytes(Path.of(System.getenv("QUOIN_DESCRIPTORS")));
    Map<String, FileDescriptorProto> all = new HashMap<>();
    FileDescriptorSet.parseFrom(encoded).getFileList().forEach(file -> all.put(file.getName(), file));
    for (String name : all.keySet()) {
      link(name, all);
    }
  }

  public static void main(String[] args) throws Exception {
    ManagedChannel channel =
        ManagedChannelBuilder.forTarget(args[0]).usePlaintext().maxInboundMessageSize(ANSWER_BYTES_MAX).build();
    Load load = new Load(channel);
    for (int at = 1; at < args.length; at++) {
      String[] step = args[at].split(":");
      int calls = Integer.parseInt(step[2]);
      ByteString value = ByteString.copyFrom(new byte[Integer.parseInt(step[3])]);
      load.repeat("put", 10, KEYS, value);
      long beganNs = System.nanoTime();
      load.repeat(step[0], Integer.parseInt(step[1]), calls, value);
      double seconds = (System.nanoTime() - beganNs) / 1e9;
      System.out.printf("%s: %.0f calls/s, failures %s%n", args[at], calls / seconds, load.failures);
    }
    channel.shutdownNow();
    System.exit(load.failures.isEmpty() ? 0 : 1);
  }

  private FileDescriptor link(String name, Map<String, FileDescriptorProto> all) throws DescriptorValidationException {
    FileDescriptor known = files.get(name);
    if (known != null) {
      return known;
    }
    FileDescriptorProto file = all.get(name);
    FileDescriptor[] imports = new FileDescriptor[file.getDependencyCount()];
    for (int at = 0; at < imports.length; at++) {
      imports[at] = link(file.getDependency(at), all);
    }
    FileDescriptor linked = FileDescriptor.buildFrom(file, imports);
    files.put(name, linked);
    return linked;
  }

  private void repeat(String pattern, int inFlight, int calls, ByteString value) throws Exception {
    Semaphore free = new Semaphore(inFlight);
    for (int at = 0; at < calls; at++) {
      free.acquire();
      String key = PREFIX + at % KEYS;
      switch (pattern) {
        case "put" -> begin("key_value", "KeyValueService", "PutKey", Map.of("key", key, "value", value), free);
        case "get" -> begin("key_value", "KeyValueService", "GetKey", Map.of("key", key), free);
        case "list" -> begin("key_value", "KeyValueService", "ListKeys", Map.of("prefix", PREFIX, "page_size", KEYS), free);
        case "watch" -> begin("watch", "WatchService", "WatchKeys", Map.of("prefix", PREFIX), free);
        default -> throw new IllegalArgumentException(pattern);
      }
    }
    free.acquire(inFlight);
  }

  private void begin(String file, String service, String name, Map<String, Object> fields, Semaphore free) {
    var method = files.get("coordination/v1/" + file + ".proto").findServiceByName(service).findMethodByName(name);
    boolean isWatch = method.isServerStreaming();
    MethodDescriptor<DynamicMessage, DynamicMessage> described = MethodDescriptor.<DynamicMessage, DynamicMessage>newBuilder()
        .setType(isWatch ? MethodType.SERVER_STREAMING : MethodType.UNARY)
        .setFullMethodName("coordination.v1." + service + "/" + name)
        .setRequestMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(method.getInputType())))
        .setResponseMarshaller(ProtoUtils.marshaller(DynamicMessage.getDefaultInstance(method.getOutputType())))
        .build();
    ClientCall<DynamicMessage, DynamicMessage> call = channel.newCall(described, CallOptions.DEFAULT.withDeadlineAfter(1, TimeUnit.MINUTES));
    call.start(
        new ClientCall.Listener<>() {
          private boolean isAnswered;

          @Override
          public void onMessage(DynamicMessage message) {
            isAnswered = true;
            if (isWatch) {
              call.cancel("enough", null);
            }
          }

          @Override
          public void onClose(Status status, Metadata trailers) {
            if (!isAnswered || (!isWatch && !status.isOk())) {
              synchronized (failures) {
                failures.merge(status.getCode() + " " + status.getDescription(), 1, Integer::sum);
              }
            }
            free.release();
          }
        },
        metadata());
    call.request(2);
    call.sendMessage(messageOf(method.getInputType(), fields));
    call.halfClose();
  }

  private static DynamicMessage messageOf(Descriptor type, Map<String, Object> fields) {
    DynamicMessage.Builder message = DynamicMessage.newBuilder(type);
    message.setField(type.findFieldByName("namespace"), "default");
    fields.forEach((name, value) -> message.setField(type.findFieldByName(name), value));
    return message.build();
  }

  private static Metadata metadata() {
    Metadata metadata = new Metadata();
    Map.of("authorization", "Bearer " + System.getenv("QUOIN_TOKEN"), "api-version", "v1", "request-id", UUID.randomUUID().toString())
        .forEach((name, value) -> metadata.put(Metadata.Key.of(name, Metadata.ASCII_STRING_MARSHALLER), value));
    return metadata;
  }
}
